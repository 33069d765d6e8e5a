import type { OpenSpan, SpanSettings, Tracing, TracingSettings } from './spans.js';

const NO_SPAN: OpenSpan = {
  within: (work) => work(),
  note: () => undefined,
  rename: () => undefined,
  end: () => undefined,
};
const NO_FIELDS = {};

/** Traces that are off: nothing is loaded, kept or sent. */
export const NO_TRACING: Tracing = {
  begin: () => NO_SPAN,
  carried: () => null,
  parentOf: () => '',
  workflowEnded: () => undefined,
  logFields: () => NO_FIELDS,
  watch: null,
  close: () => Promise.resolve(),
};

/** Reads `name=value`, several by comma. @throws Error that repeats nothing of it */
export function readOtlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^\s*([\w-]+)\s*=\s*(.+?)\s*$/.exec(pair) ?? [];
      if (name === '') throw new Error('takes name=value, by comma');
      try {
        return [name.toLowerCase(), decodeURIComponent(value)];
      } catch {
        throw new Error('takes values encoded as in addresses: a percent sign is %25');
      }
    }),
  );
}

/** @param service what the process is called in traces */
export async function openTracing({ endpoint, ...settings }: TracingSettings, service: string): Promise<Tracing> {
  if (endpoint === null) return NO_TRACING;
  const { createOpenTelemetry } = await import('./openTelemetry.js');
  return createOpenTelemetry({ endpoint, ...settings }, service);
}

/** Does a piece of work in a span that ends with it. */
export async function inSpan<T>(tracing: Tracing, settings: SpanSettings, work: () => Promise<T>): Promise<T> {
  const span = tracing.begin(settings);
  try {
    const result = await span.within(work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
