/** Java programs of tests, which Maven downloads. */
import { run } from '../../engines/run.js';
import { fetchedOnce } from './fetchedOnce.js';

/** Rethrows an error; if a program is missing, with a message that says what to install. */
export const orNeeds =
  (needs: string) =>
  (error: unknown): never => {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(needs, { cause: error }) : error;
  };

export interface FetchedJars {
  /** Start of the name of the download folder. */
  readonly family: string;
  /** File that lists the dependencies. */
  readonly pom: string;
  readonly label: string;
  /** What to install; the message of the error if Maven is missing. */
  readonly needs: string;
}

/** Downloads the dependencies of a pom.xml unless they are present. @returns the folder with the jars */
export const fetchedJars = ({ family, pom, label, needs }: FetchedJars): Promise<string> =>
  fetchedOnce({
    family,
    pinnedBy: pom,
    label,
    fetch: (draft) =>
      // -C: checksums must match.
      run('mvn', [
        ...['-B', '-q', '-C', '-f', pom],
        ...['dependency:copy-dependencies', `-DoutputDirectory=${draft}`],
      ]).catch(orNeeds(needs)),
  });

/** Returns the path of Java. @throws with what to install */
export const findJava = (needs: string): Promise<string> =>
  run('sh', ['-c', 'command -v java']).catch(() => Promise.reject(new Error(needs)));
