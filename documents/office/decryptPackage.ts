import { createDecipheriv, createHash } from 'node:crypto';
import type { DocumentLimits } from '../types.js';
import { openCompound } from './compoundFile.js';
import { readXml } from './readXml.js';

/**
 * The password with which Excel encrypts a workbook whose structure is protected but which needs no password for
 * reading. Programs try it before they request a password (MS-OFFCRYPTO, 2.4.2.3,
 * https://learn.microsoft.com/openspecs/office_file_formats/ms-offcrypto).
 */
const DEFAULT_PASSWORD = 'VelvetSweatshop';

/** Maximum number of hash rounds that a file may request. Office uses 100,000; a round takes about a microsecond. */
const MAX_ROUNDS = 1_000_000;
const SEGMENT_BYTES = 4096;
const STANDARD_ROUNDS = 50_000;

/** Block keys of the agile encryption: constants from which the keys of its three encrypted values are derived. */
const VERIFIER_INPUT = Buffer.from('fea7d2763b4b9e79', 'hex');
const VERIFIER_VALUE = Buffer.from('d7aa0f6d3061344e', 'hex');
const PACKAGE_KEY = Buffer.from('146e0be7abacd0d6', 'hex');

/**
 * Decrypts an Office file whose password is Excel's default.
 * @returns null if it has another password, or an unsupported encryption
 */
export function decryptPackage(bytes: Uint8Array, limits: DocumentLimits): Uint8Array | null {
  const file = openCompound(bytes);
  const [info, content] = [file.stream('EncryptionInfo'), file.stream('EncryptedPackage')];
  if (info === null || content === null || info.length < 8 || content.length < 8) return null;
  try {
    const size = Number(content.readBigUInt64LE(0));
    const packed = content.subarray(8);
    const isAgile = info.readUInt16LE(0) === 4 && info.readUInt16LE(2) === 4;
    const plain = isAgile ? decryptAgile(info.subarray(8), packed, limits) : decryptStandard(info, packed);
    return plain === null || size > plain.length ? plain : plain.subarray(0, size);
  } catch {
    // Missing or invalid parameters, or an encryption that is not supported here, such as one with another cipher.
    return null;
  }
}

type Parameters = Readonly<Record<string, string>>;

function decryptAgile(xml: Buffer, packed: Buffer, limits: DocumentLimits): Buffer | null {
  let data: Parameters = {};
  let key: Parameters = {};
  readXml(xml, limits, {
    open(name, attributes) {
      if (name === 'keyData') data = attributes;
      else if (name === 'encryptedKey' && attributes['spinCount'] !== undefined) key = attributes;
    },
  });
  const rounds = Number(key['spinCount']);
  if (!(rounds <= MAX_ROUNDS)) return null;
  const salt = base64(key['saltValue']);
  const password = Buffer.from(DEFAULT_PASSWORD, 'utf16le');
  const hash = spin(hashOf(key, salt, password), rounds, key);
  const keyBytes = Number(key['keyBits']) / 8;
  const unlock = (block: Buffer, value: string | undefined): Buffer =>
    decipher(key, padded(hashOf(key, hash, block), keyBytes), padded(salt, Number(key['blockSize'])), base64(value));
  const input = unlock(VERIFIER_INPUT, key['encryptedVerifierHashInput']);
  const value = unlock(VERIFIER_VALUE, key['encryptedVerifierHashValue']);
  const expected = hashOf(key, input.subarray(0, Number(key['saltSize'])));
  if (!value.subarray(0, expected.length).equals(expected)) return null;
  const secret = unlock(PACKAGE_KEY, key['encryptedKeyValue']).subarray(0, keyBytes);
  const dataSalt = base64(data['saltValue']);
  const parts: Buffer[] = [];
  for (let nth = 0; nth * SEGMENT_BYTES < packed.length; nth++) {
    const iv = padded(hashOf(data, dataSalt, counter(nth)), Number(data['blockSize']));
    const segment = packed.subarray(nth * SEGMENT_BYTES, (nth + 1) * SEGMENT_BYTES);
    parts.push(decipher(data, secret, iv, segment));
  }
  return Buffer.concat(parts);
}

/** Decrypts the standard encryption of Office 2007: AES in ECB mode, with a key that is derived by SHA-1. */
function decryptStandard(info: Buffer, packed: Buffer): Buffer | null {
  const headerBytes = info.readUInt32LE(8);
  const keyBytes = info.readUInt32LE(12 + 16) / 8;
  const verifier = info.subarray(12 + headerBytes);
  const salt = verifier.subarray(4, 20);
  const sha1: Parameters = { hashAlgorithm: 'SHA1' };
  const hash = spin(hashOf(sha1, salt, Buffer.from(DEFAULT_PASSWORD, 'utf16le')), STANDARD_ROUNDS, sha1);
  const final = hashOf(sha1, hash, counter(0));
  const pad = Buffer.alloc(64, 0x36);
  for (const [at, byte] of final.entries()) pad[at] = byte ^ 0x36;
  const key = hashOf(sha1, pad).subarray(0, keyBytes);
  const decrypt = (part: Buffer): Buffer => {
    const cipher = createDecipheriv(`aes-${keyBytes * 8}-ecb`, key, null).setAutoPadding(false);
    return cipher.update(part.subarray(0, part.length - (part.length % 16)));
  };
  const expected = hashOf(sha1, decrypt(verifier.subarray(20, 36)));
  if (!decrypt(verifier.subarray(40, 72)).subarray(0, expected.length).equals(expected)) return null;
  return decrypt(packed);
}

function spin(start: Buffer, rounds: number, parameters: Parameters): Buffer {
  let hash = start;
  const input = Buffer.alloc(4 + start.length);
  for (let round = 0; round < rounds; round++) {
    input.writeUInt32LE(round, 0);
    hash.copy(input, 4);
    hash = hashOf(parameters, input);
  }
  return hash;
}

function hashOf({ hashAlgorithm = '' }: Parameters, ...parts: readonly Buffer[]): Buffer {
  const hash = createHash(hashAlgorithm.replace('-', '').toLowerCase());
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function decipher({ cipherChaining, cipherAlgorithm }: Parameters, key: Buffer, iv: Buffer, part: Buffer): Buffer {
  if (cipherAlgorithm !== 'AES' || cipherChaining !== 'ChainingModeCBC') throw new Error('unsupported cipher');
  const cipher = createDecipheriv(`aes-${key.length * 8}-cbc`, key, iv).setAutoPadding(false);
  return cipher.update(part.subarray(0, part.length - (part.length % 16)));
}

const base64 = (value: string | undefined): Buffer => Buffer.from(value ?? '', 'base64');

const counter = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};

/** Returns the first bytes of a value; a shorter one is filled up with the byte that the format specifies. */
const padded = (value: Buffer, length: number): Buffer =>
  value.length >= length
    ? value.subarray(0, length)
    : Buffer.concat([value, Buffer.alloc(length - value.length, 0x36)]);
