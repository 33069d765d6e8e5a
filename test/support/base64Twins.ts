const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns other texts that Node decodes to the same bytes as the base64url text of 32 bytes: 3 last characters, and padding. */
export function base64Twins(text: string): string[] {
  const bytes = Buffer.from(text, 'base64url');
  const endings = [...ALPHABET].map((letter) => text.slice(0, -1) + letter);
  return [...endings, `${text}=`, `${text}\n`].filter(
    (one) => one !== text && Buffer.from(one, 'base64url').equals(bytes),
  );
}
