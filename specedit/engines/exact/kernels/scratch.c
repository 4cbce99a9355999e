/* The memory that passes work in: buffers for the rows of a pass, and scratch for each thread.
 *
 * It grows to the widest pass and stays until the model is freed. */
#include "model.h"
#include "threads.h"

enum { BUFFERS = 25, HALVED_WIDTH = 16 };

/* Every buffer for the rows of a pass; those that the model does not need are null. */
static void list_buffers(const specedit_model *m, void *all[BUFFERS]) {
    const expert_buffers *e = &m->expert;
    void *list[BUFFERS] = {m->rows, m->gates, m->cosines, m->sines, m->query_scales, m->hidden.values,
        m->hidden.scales, m->out.scales, m->inner.scales, m->best, m->second, m->choice, m->depths,
        m->normed, m->projected, m->mixed, e->chosen, e->entry, e->weight, e->row, e->first, e->active,
        e->rows.values, e->rows.scales, e->results};
    memcpy(all, list, sizeof list);
}

static void free_buffers(specedit_model *m) {
    void *all[BUFFERS];
    list_buffers(m, all);
    for (int i = 0; i < BUFFERS; i++)
        thread_memory_free(all[i]);
    m->normed = m->projected = m->mixed = 0;
    m->expert = (expert_buffers){.rows.groups = 1};
    m->rows = m->qkv = m->attended = m->gates = m->cosines = m->sines = m->query_scales = 0;
    m->queries = 0;
    m->hidden.values = m->out.values = m->inner.values = 0;
    m->hidden.scales = m->out.scales = m->inner.scales = 0;
    m->best = m->second = 0;
    m->choice = m->depths = 0;
    m->width = 0;
}

static void free_parts(specedit_model *m) {
    thread_memory_free(m->part_output);
    thread_memory_free(m->part_sum);
    thread_memory_free(m->part_maximum);
    m->part_output = m->part_sum = m->part_maximum = 0;
    m->tiles = 0;
}

static void free_scratch(specedit_model *m) {
    for (int t = 0; t < m->threads; t++) {
        thread_scratch *b = &m->scratch[t];
        void *all[] = {b->row, b->sums, b->scores, b->weights, b->units, b->tile_output, b->output,
            b->sum, b->maximum, b->gathered, b->expanded};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            thread_memory_free(all[i]);
    }
    free(m->scratch);
    m->scratch = 0;
    m->threads = 0;
}

static void *floats_of(size_t count) { return thread_memory(count * sizeof(float)); }

/* of the output layer or a subset of it: a small product may have more tasks than a large one */
static int max_head_tasks(const specedit_model *m, int threads) {
    int all = gemm_tasks(&m->weights.head, threads);
    return all > 16 * threads ? all : 16 * threads;
}

static int reserve_width(specedit_model *m, int width, int threads) {
    const specedit_shape *s = &m->shape;
    free_buffers(m);
    size_t w = (size_t)up_to(width, 8), terms = s->residual ? 2 : 1;
    m->rows = floats_of(w * s->hidden);
    /* attention is over when the gates are written: both are in one buffer */
    size_t queries = w * s->heads * m->size, attention = w * (m->outputs + m->attended_size) + queries / 2;
    size_t entries = w * m->entries, gates = (entries ? entries : w) * s->inner;
    m->gates = floats_of(attention > gates ? attention : gates);
    m->qkv = m->gates;
    m->attended = m->qkv + w * m->outputs;
    m->queries = (int16_t *)(m->attended + w * m->attended_size);
    m->cosines = floats_of(w * s->half);
    m->sines = floats_of(w * s->half);
    m->query_scales = floats_of(w * s->heads);
    int widest = s->hidden > m->attended_size ? s->hidden : m->attended_size;
    widest = m->weights.id_norm && widest < 2 * s->hidden ? 2 * s->hidden : widest;
    widest = widest > s->inner ? widest : s->inner; /* products take turns with one buffer */
    m->inner.values = m->hidden.values = m->out.values = thread_memory(w * terms * widest);
    m->hidden.scales = floats_of(w);
    m->out.scales = floats_of(w);
    m->inner.scales = floats_of((entries ? entries : w) * m->groups);
    m->best = floats_of(w * max_head_tasks(m, threads));
    m->second = floats_of(w * max_head_tasks(m, threads));
    m->choice = thread_memory(w * max_head_tasks(m, threads) * sizeof(int32_t));
    m->depths = thread_memory(w * sizeof(int32_t));
    if (m->projected_size) {
        m->normed = floats_of(w * s->hidden);
        m->projected = floats_of(w * m->projected_size);
        m->mixed = floats_of(w * m->channels);
    }
    if (entries) {
        expert_buffers *e = &m->expert;
        size_t experts = (size_t)s->experts + s->shared + 1;
        e->chosen = thread_memory(entries * sizeof(int32_t));
        e->entry = thread_memory(entries * sizeof(int32_t));
        e->weight = floats_of(entries);
        e->row = thread_memory(entries * sizeof(int32_t));
        e->first = thread_memory(experts * sizeof(int32_t));
        e->active = thread_memory(experts * sizeof(int32_t));
        e->rows.values = thread_memory(entries * terms * (s->hidden > s->inner ? s->hidden : s->inner));
        e->rows.scales = floats_of(entries);
        e->results = floats_of(entries * s->hidden);
        m->inner.values = e->rows.values; /* the rows are multiplied when these are written */
    }
    void *all[BUFFERS];
    int lacking = 0;
    list_buffers(m, all);
    for (int i = 0; i < (entries ? BUFFERS : m->projected_size ? 16 : 13); i++)
        lacking |= !all[i];
    if (lacking) {
        free_buffers(m);
        return SPECEDIT_NO_MEMORY;
    }
    m->width = (int)w;
    return SPECEDIT_OK;
}

static int reserve_scratch(specedit_model *m, int threads) {
    const specedit_shape *s = &m->shape;
    free_scratch(m);
    m->scratch = calloc((size_t)threads, sizeof *m->scratch);
    if (!m->scratch)
        return SPECEDIT_NO_MEMORY;
    m->threads = threads;
    size_t queries = (size_t)QUERY_ROWS * m->per_kv;
    size_t sums = (size_t)PANELS_PER_CALL * ROW_BLOCK * LANES, values = queries * m->size;
    size_t own = (size_t)m->per_kv * TILE; /* scores of one row of a tree */
    sums = sums > values ? sums : values;
    sums = sums > own ? sums : own;
    for (int t = 0; t < threads; t++) {
        thread_scratch *b = &m->scratch[t];
        b->row = floats_of(2 * (size_t)s->hidden); /* an MTP layer begins with two rows */
        b->sums = thread_memory(sums * sizeof(int32_t));
        b->scores = thread_memory(queries * TILE * sizeof(int32_t));
        b->weights = thread_memory(queries * TILE);
        b->units = floats_of(queries * (TILE / BLOCK));
        b->tile_output = floats_of(values);
        b->output = floats_of(values);
        b->sum = floats_of(2 * queries);
        b->maximum = floats_of(2 * queries);
        b->gathered = thread_memory(cache_part_bytes(m->size));
        b->expanded = m->expanded ? thread_memory((size_t)PANELS_PER_CALL * m->expanded * LANES) : 0;
        if (!b->row || !b->sums || !b->scores || !b->weights || !b->units || !b->tile_output
            || !b->output || !b->sum || !b->maximum || !b->gathered
            || (m->expanded && !b->expanded)) {
            free_scratch(m);
            return SPECEDIT_NO_MEMORY;
        }
    }
    return SPECEDIT_OK;
}

int reserve_buffers(specedit_model *m, int width, int threads, int tiles) {
    if (threads != m->threads) {
        free_buffers(m); /* the output layer's tasks follow from the threads */
        if (reserve_scratch(m, threads))
            return SPECEDIT_NO_MEMORY;
    }
    if (width > m->width && reserve_width(m, width, threads))
        return SPECEDIT_NO_MEMORY;
    if (width <= SPLIT_WIDTH && tiles > m->tiles) {
        size_t queries = (size_t)SPLIT_WIDTH * m->shape.heads * (size_t)up_to(tiles, 4);
        free_parts(m);
        m->part_output = floats_of(queries * m->size);
        m->part_sum = floats_of(queries);
        m->part_maximum = floats_of(queries);
        if (!m->part_output || !m->part_sum || !m->part_maximum) {
            free_parts(m);
            return SPECEDIT_NO_MEMORY;
        }
        m->tiles = up_to(tiles, 4);
    }
    return SPECEDIT_OK;
}

/* for the rows of a pass that may be taken back */
int reserve_journal(specedit_model *m, int width) {
    pass_journal *j = &m->journal;
    size_t rows = (size_t)m->recurrent * width;
    j->pass++; /* no cache can go back into the one that was noted */
    if (width > j->capacity) {
        thread_memory_free(j->inputs);
        thread_memory_free(j->gates);
        j->inputs = floats_of(rows * m->channels);
        j->gates = floats_of(rows * 2 * m->shape.value_heads);
        j->capacity = j->inputs && j->gates ? width : 0;
    }
    if (width >= HALVED_WIDTH && !j->middle)
        j->middle = floats_of((size_t)m->recurrent * m->state_floats);
    j->half = width >= HALVED_WIDTH && j->middle ? width / 2 : 0;
    return j->capacity ? SPECEDIT_OK : SPECEDIT_NO_MEMORY;
}

void free_memory(specedit_model *m) {
    free_buffers(m);
    free_parts(m);
    free_scratch(m);
}
