/** Java programs that tests run and Maven downloads. */
import { run } from '../../engines/run.js';
import { fetchedOnce } from './fetchedOnce.js';

/**
 * Returns a function that rethrows an error, or throws the message `needs` if the error is that a program is missing.
 */
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

/** Returns the path of Java. @param needs message of the error if Java is missing */
export const findJava = (needs: string): Promise<string> =>
  run('sh', ['-c', 'command -v java']).catch(() => Promise.reject(new Error(needs)));
