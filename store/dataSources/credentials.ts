import type { SealedSecret, SecretContext, Secrets } from '../secrets/secrets.js';
import type { DataSourceDoc } from '../models/dataSources.js';

type Holder = Pick<DataSourceDoc, '_id' | 'organizationId'>;

const secretContext = ({ _id, organizationId }: Holder): SecretContext => ({
  organizationId,
  record: `data_source:${_id}`,
  field: 'credentials',
});

/** Encrypts credentials for the record of their data source. Another record or organization cannot decrypt them. */
export const sealCredentials = (secrets: Secrets, holder: Holder, credentials: string): string =>
  JSON.stringify(secrets.seal(secretContext(holder), credentials));

/** Decrypts the credentials; null for a source without any, or whose access is revoked. */
export function openCredentials(
  secrets: Secrets,
  source: Holder & Pick<DataSourceDoc, 'sealedCredentials'>,
): string | null {
  const { sealedCredentials } = source;
  return sealedCredentials === null
    ? null
    : secrets.open(secretContext(source), JSON.parse(sealedCredentials) as SealedSecret);
}
