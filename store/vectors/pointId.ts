import { v5 } from 'uuid';

/** Namespace of our point ids: an arbitrary fixed UUID. Changing it would orphan every stored point. */
const NAMESPACE = '8a3c7c1e-5d0b-4a68-9f3e-0b6d2c4e7f10';

/** Returns the id of a point. Same chunk, generation and space give the same id. */
export function pointId(fileId: number, generation: number, chunkIndex: number, space: string): string {
  return v5(`${fileId}:${generation}:${chunkIndex}:${space}`, NAMESPACE);
}
