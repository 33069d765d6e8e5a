/** Reasons why a run with due work makes no progress. */
export const STALL_CAUSES = [
  'no_worker',
  'worker_silent',
  'worker_starved',
  'workflow_task_fails',
  'step_fails',
  'qdrant_down',
  'temporal_down',
] as const;
export type StallCause = (typeof STALL_CAUSES)[number];

export interface RunStall {
  readonly cause: StallCause;
  /** The problem, then what to do. */
  readonly message: string;
  /** When the stall was detected, after STALL_AFTER_S without progress. */
  readonly since: Date;
}

/** Stalled runs of the service or of one organization, by cause. */
export interface StallGroup {
  readonly cause: StallCause;
  readonly runs: number;
  /** Message of the run that has been stalled longest. */
  readonly message: string;
  readonly since: Date;
}

/** The meaning of each cause and what to do, without details of any organization. */
const CAUSE_SENTENCES: Readonly<Record<StallCause, string>> = {
  no_worker: 'no worker is running. Start one: npm run worker',
  worker_silent: 'the workers send no heartbeat. Restart them',
  worker_starved:
    'other programs use the processor time that the workers need. Stop them, or give the machine more processors',
  workflow_task_fails:
    "their workflow tasks fail repeatedly. Run the same version of all workers and look at the workers' log",
  step_fails: "a step fails repeatedly. Look at the workers' log",
  qdrant_down: 'Qdrant does not answer. See QDRANT_URL',
  temporal_down: 'Temporal does not answer. See TEMPORAL_ADDRESS',
};

/** Returns how many runs are stalled and why, without details of any organization and without a full stop. */
export const stallSentence = ({ runs, cause }: Pick<StallGroup, 'runs' | 'cause'>): string =>
  `${runs} ${runs === 1 ? 'run is' : 'runs are'} stalled: ${CAUSE_SENTENCES[cause]}`;
