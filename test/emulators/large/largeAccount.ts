/** An account that is too large for memory: each item is computed from its number. */
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { type Call, type EmulatedSource, type Refused, startEmulator } from '../emulator.js';
import { type Limit, Quota } from './quota.js';

export interface LargeAccount {
  readonly source: ConnectedSourceType;
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** The credentials of the account, as JSON. */
  readonly credentials: string;
  /** Number of items that become files. */
  readonly files: number;
  readonly quota: Quota<unknown>;
  close(): Promise<void>;
}

interface LargeSource<R extends Refused> extends Pick<EmulatedSource<R>, 'refuse'> {
  readonly source: ConnectedSourceType;
  readonly files: number;
  readonly facts?: Readonly<Record<string, string>>;
  readonly limits: readonly Limit[];
  refusalOf(limit: Limit, waitMs: number): R;
  /** Path of the API. */
  readonly path: string;
  /** @param origin the origin of the emulator, for links in answers */
  answer(call: Call, origin: string): void;
}

/** Starts the emulator of a large account. It accepts any token, because other suites test consent and revocation. */
export async function startLarge<R extends Refused>(largeSource: LargeSource<R>): Promise<LargeAccount> {
  const { source, files, facts = {}, limits, path, refuse } = largeSource;
  const quota = new Quota<R>(limits, largeSource.refusalOf.bind(largeSource));
  let origin = '';
  const emulator = await startEmulator<R>({
    refuse,
    answer(call) {
      const refused = quota.take(call);
      if (refused) refuse(call.response, refused);
      else largeSource.answer(call, origin);
    },
  });
  ({ origin } = emulator);
  return {
    ...{ source, files, quota },
    settings: `${source}.api=${origin}${path}`,
    credentials: JSON.stringify({ accessToken: 'token', facts }),
    async close() {
      await emulator.close();
    },
  };
}

/** Returns the numbers from `from` to `to`, exclusive. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
