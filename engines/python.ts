import { EngineError, USE_SERVERS_INSTEAD } from './errors.js';
import { run } from './run.js';

const CANDIDATES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
/** Minor versions of Python 3 for which requirements.txt has wheels. */
const MINORS = { first: 10, last: 13 };
const PROBE = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])';

/**
 * Finds a Python that can create the engines' environment.
 * @throws EngineError that states what was tried and what to install
 */
export async function findPython(): Promise<string> {
  const tried: string[] = [];
  for (const candidate of CANDIDATES) {
    const fault = await unsuitableReason(candidate);
    if (!fault) return candidate;
    tried.push(`${candidate}: ${fault}`);
  }
  throw new EngineError(
    `The embedded engines need Python 3.${MINORS.first} to 3.${MINORS.last} with its venv module. ` +
      `Tried ${tried.join('; ')}.\n` +
      `Install one (Debian and Ubuntu: apt-get install python3 python3-venv), ${USE_SERVERS_INSTEAD}.`,
  );
}

async function unsuitableReason(python: string): Promise<string | undefined> {
  let version: string;
  try {
    version = (await run(python, ['-c', PROBE], { timeoutMs: 20_000 })).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'not found';
    const [, module] = /No module named '(\w+)'/.exec((error as Error).message) ?? [];
    return module ? `its ${module} module is missing` : 'does not run';
  }
  const [, minor] = /^3\.(\d+)$/m.exec(version) ?? [];
  if (minor && Number(minor) >= MINORS.first && Number(minor) <= MINORS.last) return undefined;
  return `is ${version}`;
}
