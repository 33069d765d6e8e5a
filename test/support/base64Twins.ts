const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Returns other texts that Node decodes to the same bytes as a base64url text: those with another last character, with
 * padding or with a line break. Another last character is possible only if it has unused bits, as for 32 bytes.
 */
export function base64Twins(text: string): string[] {
  const bytes = Buffer.from(text, 'base64url');
  const endings = [...ALPHABET].map((letter) => text.slice(0, -1) + letter);
  return [...endings, `${text}=`, `${text}\n`].filter(
    (twin) => twin !== text && Buffer.from(twin, 'base64url').equals(bytes),
  );
}
