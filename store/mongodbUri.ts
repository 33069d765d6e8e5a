import { ConnectionString } from 'mongodb-connection-string-url';

/** Omits the URI and the reason of the parser, because both can contain a password. */
const INVALID =
  'must be a URI like mongodb://user:password@host:port,host:port/database?replicaSet=name, or mongodb+srv://host/…; ' +
  'in names and passwords, write each of : / ? # [ ] @ % as in a URL (@ is %40)';

/** Returns whether the driver accepts a host, which may be the escaped path of a Unix socket. */
function isHost(host: string): boolean {
  if (decodeURIComponent(host).endsWith('.sock')) return true;
  return URL.canParse(`any://${host}`) && new URL(`any://${host}`).port !== '0';
}

/**
 * Returns the hosts of a MongoDB URI, as it names them. A URI lists any number of members of a replica set, so it may
 * be no URL (https://www.mongodb.com/docs/manual/reference/connection-string/). Does not check the options.
 * @throws Error whose message is the end of a sentence about the setting, without the URI
 */
export function hostsOfMongodbUri(uri: string): readonly string[] {
  try {
    const { hosts, isSRV } = new ConnectionString(uri);
    if (isSRV || hosts.every(isHost)) return hosts;
  } catch {
    // The following error does not contain the password.
  }
  throw new Error(INVALID);
}
