/* The float32 work of recurrent layers, routers and gates, in vectors of 16: included by rows.h. */

INLINE floats four_sums(const floats sum[4]) { return (sum[0] + sum[1]) + (sum[2] + sum[3]); }

static void rows_sigmoid(float *row, const float *gates, int count) {
    for (int i = 0; i < count; i += LANES)
        store(row + i, load(row + i) / (exponential(-load(gates + i)) + 1.0f));
}

static void rows_project(const float *row, const float *panel, int inputs, float *out) {
    floats sum[4] = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < inputs; i += 4)
        for (int j = 0; j < 4; j++)
            sum[j] = sum[j] + load(panel + (size_t)(i + j) * LANES) * row[i + j];
    store(out, four_sums(sum));
}

/* A state is multiplied with a key, and with a query and the next key (each or null) as it changes. */
INLINE void recur_once(const float *from, float *to, int keys, const float *key, const float *query,
    const float *next, float decay, floats change, floats *out, floats *known) {
    floats found[4] = {{0}, {0}, {0}, {0}}, sum[4] = {{0}, {0}, {0}, {0}};
    for (int i = 0; i < keys; i += 4)
        for (int j = 0; j < 4; j++) {
            size_t at = (size_t)(i + j) * LANES;
            floats state = load(from + at) * decay + change * key[i + j];
            store(to + at, state);
            if (query)
                found[j] = found[j] + state * query[i + j];
            if (next)
                sum[j] = sum[j] + state * next[i + j];
        }
    *out = four_sums(found);
    *known = four_sums(sum);
}

static void rows_recur(const float *from, float *to, int keys, int count, const recurrence *of) {
    floats known, out;
    for (int t = 0; t < count; t++, from = to) {
        const float *key = of->keys + (size_t)t * of->stride, *next = key + of->stride;
        const float *query = of->queries ? of->queries + (size_t)t * of->stride : 0;
        float decay = of->decays[(size_t)t * of->gate_stride], sums[LANES];
        if (!t) {
            rows_project(key, from, keys, sums);
            known = load(sums);
        }
        floats change = (load(of->values + (size_t)t * of->stride) - known * decay)
            * of->betas[(size_t)t * of->gate_stride];
        if (t == count - 1) /* each call without the branches inside */
            query ? recur_once(from, to, keys, key, query, 0, decay, change, &out, &known)
                  : recur_once(from, to, keys, key, 0, 0, decay, change, &out, &known);
        else
            query ? recur_once(from, to, keys, key, query, next, decay, change, &out, &known)
                  : recur_once(from, to, keys, key, 0, next, decay, change, &out, &known);
        if (query)
            store(of->out + (size_t)t * of->out_stride, out);
    }
}
