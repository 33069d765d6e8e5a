/** openapi-generator, a Java program that generates clients in many languages. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { run } from '../../../engines/run.js';
import { fetchedJars, findJava } from '../java.js';

const POM = fileURLToPath(new URL('../../clients/pom.xml', import.meta.url));
const NEEDS =
  'openapi-generator is a Java program that Maven fetches: install Java 11 or newer and Maven ' +
  '(apt-get install openjdk-17-jre-headless maven), then run this test again.';

/** Parts to generate: no tests, no documentation, and no webhooks, whose code does not compile in some languages. */
const PARTS = 'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';

/** Generates a client. @param options of the generator: `name=value` */
export async function generateClient(
  language: string,
  document: string,
  to: string,
  options: readonly string[] = [],
): Promise<void> {
  const java = await findJava(NEEDS);
  const jars = await fetchedJars({
    ...{ family: 'test-clients-java-', pom: POM, label: 'openapi-generator (32 MB)', needs: NEEDS },
  });
  await run(java, [
    ...['-Xmx700m', '-cp', path.join(jars, '*'), 'org.openapitools.codegen.OpenAPIGenerator', 'generate'],
    ...['-g', language, '-i', document, '-o', to, '--global-property', PARTS],
    ...(options.length > 0 ? ['--additional-properties', options.join(',')] : []),
  ]);
}
