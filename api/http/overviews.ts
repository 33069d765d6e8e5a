/** Data of the operator page: types shared between its readers (ops/, health/) and the dependencies of operations. */
import type { StallGroup } from '../../contract/runs/stalls.js';
import type { FailureGroup } from '../../store/files/failures.js';
import type { HeldRow } from '../../store/overview/held.js';
import type { QuarantineOverview } from '../../store/overview/quarantine.js';
import type { RunsOverview } from '../../store/overview/runs.js';
import type { SourcesOverview } from '../../store/overview/sources.js';
import type { StorageOverview } from '../../store/overview/storage.js';
import type { DeliveryDoc, WebhookDoc } from '../../store/models/webhooks.js';
import type { Html } from './answers/html.js';
import type { OpsSession } from './identity/opsSessions.js';

export interface Check {
  readonly ok: boolean;
  readonly latency_ms: number;
  /** What failed and where to look; absent if the dependency is healthy. */
  readonly hint?: string;
}

export type Readiness = Readonly<
  Record<'mongodb' | 'schema' | 'qdrant' | 'temporal' | 'worker' | 'runs' | 'disk', Check>
>;

export interface WebhookOverview {
  readonly webhook: WebhookDoc;
  /** Newest first. */
  readonly deliveries: readonly DeliveryDoc[];
}

export interface OrganizationOverview {
  readonly organizationId: number;
  readonly at: Date;
  /** Null, here and below: the data could not be read. */
  readonly organization: { readonly name: string; readonly users: number; readonly createdAt: Date } | null;
  readonly engines: Omit<Readiness, 'runs'> | null;
  /** Stalled runs of the organization, by cause. */
  readonly stalls: readonly StallGroup[] | null;
  readonly sources: SourcesOverview | null;
  readonly runs: RunsOverview | null;
  readonly failures: readonly FailureGroup[] | null;
  /** READY files with a warning, by its cause. */
  readonly warnings: readonly FailureGroup[] | null;
  readonly held: readonly HeldRow[] | null;
  readonly quarantine: QuarantineOverview | null;
  readonly webhooks: readonly WebhookOverview[] | null;
  readonly storage: StorageOverview | null;
}

export interface Overviews {
  /** Returns fresh data. Concurrent callers share it. */
  of(organizationId: number): Promise<OrganizationOverview>;
}

/** Renders the parts of a page for its viewer, by name. */
export type OverviewRenderer = (overview: OrganizationOverview) => Readonly<Record<string, Html>>;

/** Updates open operator pages by server-sent events. */
export interface LiveOverviews {
  /** Opens a stream; null if the maximum number of viewers is reached. */
  watch(
    organizationId: number,
    session: OpsSession | null,
    render: OverviewRenderer,
  ): ((disconnected: AbortSignal) => AsyncIterable<string>) | null;
  /** Ends the streams of a session that has signed out. */
  endSession(sessionId: string): void;
  /** Ends all streams and accepts no more. */
  close(): Promise<void>;
}
