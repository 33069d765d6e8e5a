/** The way of a person through a connection: the address we gave, the provider's consent page, our page. */
import { Parser } from 'htmlparser2';

/** A page at the end of the walk. */
export interface WalkedPage {
  readonly status: number;
  readonly url: string;
  readonly html: string;
  readonly headers: Headers;
}

export interface ConsentWish {
  /** Deny instead. */
  readonly deny?: boolean;
  /** Who consents; unset: whom the page has chosen. */
  readonly person?: string;
}

/** The fields of the first form of a page, as a browser would send them without a button pressed. */
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

/** Answers the consent page of an emulated provider. @returns where the provider sends the person: our callback */
export async function answerConsent(url: string, { deny = false, person }: ConsentWish = {}): Promise<string> {
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

export async function openPage(url: string): Promise<WalkedPage> {
  const answer = await fetch(url);
  return { status: answer.status, url: answer.url, html: await answer.text(), headers: answer.headers };
}

/** Walks from the address that oauth_url gave through consent to our page. */
export const consentTo = async (url: string, wish: ConsentWish = {}): Promise<WalkedPage> =>
  openPage(await answerConsent(url, wish));
