/** Records an account of a source: its connector runs all steps, and the exchanges are redacted. */
import type { SourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { createRecorder } from './exchanges.js';
import type { Recording, RecordingLimits, StepName } from './fixture.js';
import { type RawRecording, redactRecording } from './redact.js';
import { MAX_ITEM_BYTES } from './replay.js';
import { runSteps, type StepHooks } from './steps.js';

export interface RecordRequest {
  readonly source: ConnectedSourceType;
  readonly urls: SourceUrls;
  /** Credentials in the form that the connector expects. */
  readonly credentials: unknown;
  readonly egress: Pick<Egress, 'request'>;
  readonly limits: RecordingLimits;
  readonly change: StepHooks['change'];
  readonly signal: AbortSignal;
}

/** Records an account. Nothing is written. @throws Fault of the source, or RecordingError */
export async function recordAccount(request: RecordRequest): Promise<Recording> {
  const { source, urls, credentials, limits, change, signal } = request;
  const recorder = createRecorder(request.egress);
  const connectors = createConnectors({ egress: recorder.egress, urls, maxItemBytes: MAX_ITEM_BYTES });
  const account = connectors.account(source, 'recording', JSON.stringify(credentials));
  const recordedAt = Date.now();
  const begun = new Map<StepName, number>();
  const outcomes = new Map<StepName, unknown>();
  await runSteps(account, limits, signal, {
    enter(step) {
      begun.set(step, Date.now());
      recorder.enter(step);
    },
    leave: (step, outcome) => void outcomes.set(step, outcome),
    change,
  });
  const steps: RawRecording['steps'] = [...recorder.steps].map(([name, exchanges]) => ({
    name,
    at: begun.get(name) ?? recordedAt,
    exchanges,
    outcome: outcomes.get(name),
  }));
  const hasChanges = change !== null;
  return redactRecording({ source, limits, hasChanges, recordedAt, urls: urls[source], credentials, steps });
}
