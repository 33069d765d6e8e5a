/**
 * Performs a person's part of an OAuth connection: opens the authorization address, answers the consent page, follows
 * the redirect.
 */
import { Parser } from 'htmlparser2';

/** The page at the end of the flow. */
export interface FinalPage {
  readonly status: number;
  readonly url: string;
  readonly html: string;
  readonly headers: Headers;
}

export interface ConsentChoice {
  /** Denies access. */
  readonly deny?: boolean;
  /** Id of the person who consents. Unset: the person that the page preselects. */
  readonly person?: string;
}

/** Returns the input fields of a page with their values; of radio buttons, only the checked one. */
function fieldsOf(html: string): URLSearchParams {
  const fields = new URLSearchParams();
  const parser = new Parser({
    onopentag(tag, { name, value = '', type, checked }) {
      if (tag === 'input' && name !== undefined && (type !== 'radio' || checked !== undefined))
        fields.append(name, value);
    },
  });
  parser.end(html);
  return fields;
}

/** Answers the consent page of an emulated provider. @returns the redirect address: our callback */
export async function answerConsent(url: string, { deny = false, person }: ConsentChoice = {}): Promise<string> {
  const page = await fetch(url);
  const html = await page.text();
  if (page.status !== 200) throw new Error(`The consent page answered ${page.status}: ${html}`);
  const fields = fieldsOf(html);
  fields.set('decision', deny ? 'deny' : 'allow');
  if (person !== undefined) fields.set('person', person);
  const answer = await fetch(page.url, { method: 'POST', body: fields, redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`The provider answered ${answer.status}: ${await answer.text()}`);
  return location;
}

export async function openPage(url: string): Promise<FinalPage> {
  const answer = await fetch(url);
  return { status: answer.status, url: answer.url, html: await answer.text(), headers: answer.headers };
}

/** Follows the address from oauth_url through consent to the resulting page. */
export const consentTo = async (url: string, choice: ConsentChoice = {}): Promise<FinalPage> =>
  openPage(await answerConsent(url, choice));
