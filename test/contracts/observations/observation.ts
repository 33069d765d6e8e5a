/**
 * What users and other projects observed of a provider: behaviour that its specification does not show. Each fact names its
 * source and shows how the connector behaves.
 */

/** What a fact is about; also the columns of the table of evidence in docs/sources.md. */
export const ASPECTS = ['OAuth', 'listing', 'paging', 'changes', 'deletions', 'limits', 'formats'] as const;
export type Aspect = (typeof ASPECTS)[number];

/**
 * A test, by its suite and name; `fixed`: it failed before the fact was known. Or a sentence why the connector is safe, with the
 * file that shows it.
 */
type Evidence =
  | { readonly test: readonly [suite: string, name: string]; readonly fixed?: true }
  | { readonly safe: string; readonly in: string };

export interface Observation {
  readonly about: Aspect;
  readonly fact: string;
  /** Link to the observation. */
  readonly seen: string;
  /** Its date, as YYYY-MM-DD, or as YYYY-MM if the day is unknown. */
  readonly date: string;
  readonly ours: Evidence;
}

/** The facts of one source. */
export interface SourceObservations {
  /** Name of the source, as in its row. */
  readonly source: string;
  readonly facts: readonly Observation[];
}

/** Address of a commit or pull request of the projects that most facts come from. */
export const onyx = (pull: number): string => `https://github.com/onyx-dot-app/onyx/pull/${pull}`;
export const elastic = (pull: number): string => `https://github.com/elastic/connectors/pull/${pull}`;
export const nango = (pull: number): string => `https://github.com/NangoHQ/nango/pull/${pull}`;
