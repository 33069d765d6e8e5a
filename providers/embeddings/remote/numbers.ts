/**
 * Reads a vector from JSON: a list of numbers, or the base64 of little-endian 32-bit floats. Returns undefined for
 * anything else. Each element of a list is checked, because Float32Array.from converts other values instead of failing,
 * for example null to 0.
 */
export function readVector(value: unknown): Float32Array | undefined {
  if (typeof value === 'string') {
    const bytes = Uint8Array.from(Buffer.from(value, 'base64'));
    return bytes.length > 0 && bytes.length % 4 === 0 ? new Float32Array(bytes.buffer) : undefined;
  }
  if (!Array.isArray(value) || !value.every((element) => typeof element === 'number')) return undefined;
  return Float32Array.from(value as number[]);
}

/** Returns a count from a response; null if it is invalid. */
export function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
