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

static void rows_recur(const float *from, float *to, int keys, int count, const recurrence *of) {
    for (int t = 0; t < count; t++, from = to) {
        const float *key = of->keys + (size_t)t * of->stride;
        const float *query = of->queries ? of->queries + (size_t)t * of->stride : 0;
        float decay = of->decays[(size_t)t * of->gate_stride];
        floats sum[4] = {{0}, {0}, {0}, {0}};
        for (int i = 0; i < keys; i += 4)
            for (int j = 0; j < 4; j++)
                sum[j] = sum[j] + load(from + (size_t)(i + j) * LANES) * key[i + j];
        floats known = four_sums(sum) * decay;
        floats change = (load(of->values + (size_t)t * of->stride) - known)
            * of->betas[(size_t)t * of->gate_stride];
        for (int j = 0; j < 4; j++)
            sum[j] = all(0.0f);
        for (int i = 0; i < keys; i += 4)
            for (int j = 0; j < 4; j++) {
                size_t at = (size_t)(i + j) * LANES;
                floats state = load(from + at) * decay + change * key[i + j];
                store(to + at, state);
                if (query)
                    sum[j] = sum[j] + state * query[i + j];
            }
        if (query)
            store(of->out + (size_t)t * of->out_stride, four_sums(sum));
    }
}
