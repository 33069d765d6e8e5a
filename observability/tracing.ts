import type { OpenSpan, SpanSettings, Tracing, TracingSettings } from './spans.js';

const NO_SPAN: OpenSpan = {
  within: (work) => work(),
  note: () => undefined,
  rename: () => undefined,
  end: () => undefined,
};
const NO_FIELDS = {};

/** Disabled tracing: nothing is loaded, stored or sent. */
export const NO_TRACING: Tracing = {
  begin: () => NO_SPAN,
  traceContext: () => null,
  parentOf: () => '',
  workflowEnded: () => undefined,
  logFields: () => NO_FIELDS,
  watch: null,
  close: () => Promise.resolve(),
};

/**
 * Parses `name=value` pairs separated by commas.
 * @throws Error; its message does not contain the text, which may be secret
 */
export function readOtlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^\s*([\w-]+)\s*=\s*(.+?)\s*$/.exec(pair) ?? [];
      if (name === '') throw new Error('accepts name=value pairs, separated by commas');
      try {
        return [name.toLowerCase(), decodeURIComponent(value)];
      } catch {
        throw new Error('accepts URL-encoded values: a percent sign is %25');
      }
    }),
  );
}

/** Enables tracing if an endpoint is set. @param service name of the process in traces */
export async function openTracing({ endpoint, ...settings }: TracingSettings, service: string): Promise<Tracing> {
  if (endpoint === null) return NO_TRACING;
  const { createOpenTelemetry } = await import('./openTelemetry.js');
  return createOpenTelemetry({ endpoint, ...settings }, service);
}

/** Runs work in a span that ends with it. */
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
