import { v5 } from 'uuid';

/** The namespace of our point ids: any fixed UUID; changing it would orphan every stored point. */
const NAMESPACE = '8a3c7c1e-5d0b-4a68-9f3e-0b6d2c4e7f10';

/** Same chunk, same generation, same space: same point. */
export function pointId(fileId: number, generation: number, chunkIndex: number, space: string): string {
  return v5(`${fileId}:${generation}:${chunkIndex}:${space}`, NAMESPACE);
}
