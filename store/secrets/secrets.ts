import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The owner of a secret. A ciphertext that is moved to another owner cannot be decrypted. */
export interface SecretContext {
  readonly organizationId: number;
  /** Kind and id of the record: `white_label:7`. */
  readonly record: string;
  readonly field: string;
}

/** A secret as stored: nonce and ciphertext with its authentication tag in base64, and the id of its key. */
export interface SealedSecret {
  keyId: string;
  nonce: string;
  ciphertext: string;
}

/** Encrypts secrets before they are stored: client secrets, signing keys, credentials of connections. */
export interface Secrets {
  seal(context: SecretContext, plaintext: string): SealedSecret;
  /** @throws if the key is no longer in SECRET_KEY, or the ciphertext was altered or has another owner */
  open(context: SecretContext, sealed: SealedSecret): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates AES-256-GCM encryption with keys derived from SECRET_KEY: the first encrypts, all decrypt, so that keys can
 * be rotated.
 */
export function createSecrets(keys: readonly { id: string; key: Buffer }[]): Secrets {
  const derived = new Map(
    keys.map(({ id, key }) => [id, Buffer.from(hkdfSync('sha256', key, '', 'sealed-secret', 32))]),
  );
  const firstKeyId = keys[0]?.id;
  if (firstKeyId === undefined) throw new Error('SECRET_KEY contains no key');
  const keyOf = (id: string): Buffer => {
    const key = derived.get(id);
    if (!key) throw new Error(`A secret was sealed with key ${id}. Add that key to SECRET_KEY, after the others.`);
    return key;
  };
  const authenticatedData = ({ organizationId, record, field }: SecretContext, keyId: string): Buffer =>
    Buffer.from(JSON.stringify([keyId, organizationId, record, field]));
  return {
    seal(context, plaintext) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(firstKeyId), nonce).setAAD(
        authenticatedData(context, firstKeyId),
      );
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return { keyId: firstKeyId, nonce: nonce.toString('base64'), ciphertext: ciphertext.toString('base64') };
    },
    open(context, { keyId, nonce, ciphertext }) {
      const bytes = Buffer.from(ciphertext, 'base64');
      const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), Buffer.from(nonce, 'base64'), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(authenticatedData(context, keyId))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8');
    },
  };
}
