/** Facts as an update that merges them into file_metadata. */
export const metadataFields = (facts: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
  Object.fromEntries(Object.entries(facts).map(([name, value]) => [`fileMetadata.${name}`, value]));
