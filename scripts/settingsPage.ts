import { SETTINGS } from '../config/settings.js';

/** Renders docs/settings.md from the table in config/settings.ts. */
export function settingsPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, { schema, about }]) => {
    const flags = schema.describe().flags as { default?: unknown } | undefined;
    const fallback =
      flags?.default === undefined || flags.default === ''
        ? '–'
        : `\`${String(flags.default as string | number | boolean)}\``;
    return `| \`${name}\` | ${fallback} | ${about} |`;
  });
  return `# Settings

Settings are environment variables, read and validated at start. If some are invalid, a process names them and exits.
This page is written from \`config/settings.ts\` by \`npm run docs:settings\`.

| setting | default | what it does |
|---|---|---|
${rows.join('\n')}
`;
}
