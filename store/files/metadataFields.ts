/** Returns the update that merges fields into file_metadata. */
export const metadataFields = (fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`fileMetadata.${name}`, value]));
