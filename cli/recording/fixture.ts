/** The format of a recording: one JSON file of redacted requests and responses, with the connector's results. */
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';

/**
 * The steps of a recording, in order. `point` reads the current cursor of the change feed, `changes` reads the changes
 * since then. Both are absent from a recording without changes.
 */
export const STEPS = ['connect', 'list', 'read', 'point', 'changes'] as const;
export type StepName = (typeof STEPS)[number];

/** A body: JSON, other text, or the length of bytes that are not text; a recording contains none of these bytes. */
export type Body = { readonly json: unknown } | { readonly text: string } | { readonly binary: number };

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text of the body; absent if there is none. */
  readonly body?: string;
}

export interface Exchange {
  readonly request: RecordedRequest;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Body;
  };
}

export interface RecordedStep {
  readonly name: StepName;
  /** Clock of the connector when the step began: ISO 8601, shifted like all times of the recording. */
  readonly at: string;
  readonly exchanges: readonly Exchange[];
  /** The connector's result. */
  readonly outcome: unknown;
}

/** Limits of a recording. */
export interface RecordingLimits {
  /** Maximum number of containers whose items are listed. */
  readonly containers: number;
  /** Maximum number of pages of one listing. */
  readonly pages: number;
  /** Maximum number of items that are read. */
  readonly items: number;
}

export interface Recording {
  readonly format: 1;
  readonly source: ConnectedSourceType;
  /** `emulator` for a recording of a server on loopback, which does not show what the provider answers. */
  readonly account: 'real' | 'emulator';
  /** Day of the recording, YYYY-MM-DD; the only time that is not shifted. */
  readonly recordedOn: string;
  /** Whether an item was changed and another one deleted during the recording. */
  readonly hasChanges: boolean;
  readonly limits: RecordingLimits;
  /** Addresses of the source by part, as in SOURCE_URLS. */
  readonly urls: Readonly<Record<string, string>>;
  /** Redacted credentials, in the form that the connector expects. */
  readonly credentials: unknown;
  readonly steps: readonly RecordedStep[];
}

/** Returns the bytes of a recorded body. */
export function bytesOf(body: Body): Buffer {
  if ('json' in body) return Buffer.from(JSON.stringify(body.json));
  return 'text' in body ? Buffer.from(body.text) : Buffer.alloc(body.binary);
}

/** Returns the body for bytes that are already redacted. */
export function bodyOf(bytes: Buffer): Body {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes) || text.includes('\0')) return { binary: bytes.length };
  try {
    const json = JSON.parse(text) as unknown;
    // JSON stays text if JSON.stringify would write it differently, such as an integer of 20 digits.
    if (JSON.stringify(json) === text) return { json };
  } catch {
    // It is not JSON.
  }
  return { text };
}
