"""All that interfaces of a language's own library name: what a class that implements one must have
under these names, and nothing else."""

from __future__ import annotations

from specedit.scoping.languages.tables import table

_COLLECTION = (
    "iterator forEach spliterator size isEmpty contains toArray add remove containsAll addAll "
    "removeAll removeIf retainAll clear stream parallelStream equals hashCode "
)
_ENDS = "addFirst addLast getFirst getLast removeFirst removeLast reversed "
_MAP = (
    "size isEmpty containsKey containsValue get put remove putAll clear keySet values entrySet "
    "getOrDefault forEach replaceAll putIfAbsent replace computeIfAbsent computeIfPresent compute "
    "merge equals hashCode "
)
JAVA = {
    **table(
        """
        Cloneable Serializable: -
        AutoCloseable Closeable: close
        CharSequence: length charAt subSequence toString isEmpty chars codePoints
        Callable: call
        Comparable: compareTo
        Comparator: compare reversed thenComparing equals
        Consumer: accept andThen
        Enumeration: hasMoreElements nextElement asIterator
        Function: apply compose andThen
        Iterable: iterator forEach spliterator
        Iterator: hasNext next remove forEachRemaining
        ListIterator: hasNext next remove hasPrevious previous nextIndex previousIndex set add
        Predicate: test and negate or
        Runnable: run
        Supplier: get
        """
    ),
    "Collection": _COLLECTION,
    "Set": _COLLECTION,
    "List": _COLLECTION
    + _ENDS
    + "replaceAll sort get set indexOf lastIndexOf listIterator subList",
    "SortedSet": _COLLECTION + _ENDS + "comparator subSet headSet tailSet first last",
    "Map": _MAP,
    "SortedMap": _MAP
    + "comparator subMap headMap tailMap firstKey lastKey firstEntry lastEntry pollFirstEntry "
    "pollLastEntry putFirst putLast reversed",
}
CSHARP = table(
    """
    ICloneable: Clone
    ICollection: Count IsReadOnly IsSynchronized SyncRoot Add Clear Contains CopyTo Remove
    IComparable: CompareTo
    IComparer: Compare
    IDisposable: Dispose
    IEnumerable: GetEnumerator
    IEnumerator: Current MoveNext Reset Dispose
    IEqualityComparer: Equals GetHashCode
    IEquatable: Equals
    """
)
