/** Returns the cosine of two vectors of length 1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? Number.NaN), 0);
}

export function length(vector: Float32Array): number {
  return Math.hypot(...vector);
}
