import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/** Compiles Java sources as often as it is asked: reads a line with a folder, answers one line. */
public class CheckJava {
    public static void main(String[] arguments) throws Exception {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var input = new BufferedReader(new InputStreamReader(System.in));
        var classes = Files.createTempDirectory("classes");
        for (String folder; (folder = input.readLine()) != null; ) {
            List<Path> paths;
            try (var walk = Files.walk(Path.of(folder))) {
                paths = walk.filter(path -> path.toString().endsWith(".java")
                    && !path.toString().endsWith("module-info.java")).sorted().toList();
            }
            var found = new DiagnosticCollector<JavaFileObject>();
            try (var files = compiler.getStandardFileManager(found, null, null)) {
                var options = List.of("-proc:none", "-nowarn", "-implicit:none", "-encoding", "UTF-8", "-d",
                    classes.toString(), "-XDshould-stop.ifNoError=FLOW",
                    "-cp", arguments.length > 0 ? arguments[0] : "");
                compiler.getTask(null, files, found, options, null,
                    files.getJavaFileObjectsFromPaths(paths)).call();
            }
            var text = new StringBuilder();
            found.getDiagnostics().stream().filter(one -> one.getKind().name().equals("ERROR")).limit(5)
                .forEach(one -> text.append(one.toString().replaceAll("\\s+", " ")).append("; "));
            System.out.println(text);
            System.out.flush();
        }
    }
}
