/* The shape of AMX's eight tiles, as this thread has it until it gives them back. */
#ifndef AMX_TILES_H
#define AMX_TILES_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { TILE_ROWS = 16 };

typedef struct {
    uint8_t palette;
    uint8_t start;
    uint8_t reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} __attribute__((packed)) tile_shape;

static void shape_rows(const uint8_t rows[8]) {
    tile_shape shape __attribute__((aligned(64)));
    memset(&shape, 0, sizeof shape);
    shape.palette = 1;
    for (int t = 0; t < 8; t++) {
        shape.bytes[t] = 64;
        shape.rows[t] = rows[t];
    }
    _tile_loadconfig(&shape);
}

/* tiles 0 to 3: sums; 4, 5: activations of `low` and `high` rows; 6, 7: weights */
static void shape_tiles(int low, int high) {
    uint8_t l = (uint8_t)low, h = (uint8_t)(high ? high : 1);
    shape_rows((const uint8_t[8]){l, l, h, h, l, h, TILE_ROWS, TILE_ROWS});
}

/* tiles 0 to 3: sums; 4: activations; 5 to 7: weights */
static void shape_four(int rows) {
    uint8_t r = (uint8_t)rows;
    shape_rows((const uint8_t[8]){r, r, r, r, r, TILE_ROWS, TILE_ROWS, TILE_ROWS});
}

#endif
