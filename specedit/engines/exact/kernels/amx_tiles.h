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

/* tiles 0 to 3: sums; 4, 5: digits of `low` and `high` rows; 6, 7: weights */
static void shape_tiles(int low, int high) {
    tile_shape shape __attribute__((aligned(64)));
    memset(&shape, 0, sizeof shape);
    shape.palette = 1;
    for (int t = 0; t < 8; t++)
        shape.bytes[t] = 64;
    shape.rows[0] = shape.rows[1] = shape.rows[4] = (uint8_t)low;
    shape.rows[2] = shape.rows[3] = shape.rows[5] = (uint8_t)(high ? high : 1);
    shape.rows[6] = shape.rows[7] = 16;
    _tile_loadconfig(&shape);
}

/* tiles 0 to 3: sums; 4: digits; 5 to 7: weights */
static void shape_four(int rows) {
    tile_shape shape __attribute__((aligned(64)));
    memset(&shape, 0, sizeof shape);
    shape.palette = 1;
    for (int t = 0; t < 8; t++) {
        shape.bytes[t] = 64;
        shape.rows[t] = (uint8_t)(t < 5 ? rows : 16);
    }
    _tile_loadconfig(&shape);
}

#endif
