// baked.js is written by the build: the answers of CPython for the example (tools/bake.py).
export const baked: any;
