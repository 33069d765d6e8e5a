const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Returns other texts that Node decodes to the same bytes as a base64url text: those with another last character, with
 * padding or with a line break. For texts that encode 32 bytes: their last character has unused bits.
 */
export function base64Twins(text: string): string[] {
  const bytes = Buffer.from(text, 'base64url');
  const endings = [...ALPHABET].map((letter) => text.slice(0, -1) + letter);
  return [...endings, `${text}=`, `${text}\n`].filter(
    (twin) => twin !== text && Buffer.from(twin, 'base64url').equals(bytes),
  );
}
