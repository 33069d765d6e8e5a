/**
 * Observations by users and other projects: behaviour of a provider that its specification does not show. Each
 * observation has a link to its origin and evidence of how the connector behaves.
 */

/** Subjects of observations; also the columns of the table of evidence in docs/sources.md. */
export const ASPECTS = ['OAuth', 'listing', 'paging', 'changes', 'deletions', 'limits', 'formats'] as const;
export type Aspect = (typeof ASPECTS)[number];

/**
 * Either a test, by its suite and name, or the reason why the connector is not affected, with the file that shows it.
 * `fixed`: the observation showed a defect of the connector, with which the test failed.
 */
type Evidence =
  | { readonly test: readonly [suite: string, name: string]; readonly fixed?: true }
  | { readonly reason: string; readonly file: string };

export interface Observation {
  readonly aspect: Aspect;
  readonly statement: string;
  /** Link to the observation. */
  readonly link: string;
  /** Date of the observation, as YYYY-MM-DD, or as YYYY-MM if the day is unknown. */
  readonly date: string;
  readonly evidence: Evidence;
}

/** The observations of one source. */
export interface SourceObservations {
  /** Name of the source, as in CONNECTED_SOURCES. */
  readonly source: string;
  readonly observations: readonly Observation[];
}

/** Address of a pull request of one of the projects that most observations come from. */
export const onyx = (pull: number): string => `https://github.com/onyx-dot-app/onyx/pull/${pull}`;
export const elastic = (pull: number): string => `https://github.com/elastic/connectors/pull/${pull}`;
export const nango = (pull: number): string => `https://github.com/NangoHQ/nango/pull/${pull}`;
