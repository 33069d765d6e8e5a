import type { Answer, TestUser } from '../client.js';
import { consentTo } from '../consent.js';

/** Connects as a person does who consents at the emulated provider. @returns what an operation would that connects at once */
export async function connectByConsent(
  user: TestUser,
  service: string,
  body: Record<string, unknown>,
): Promise<Answer<unknown>> {
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
    service,
    connecting_new_account: true,
    enable_file_picker: false,
    ...body,
  });
  if (answer.status !== 200) return answer;
  const page = await consentTo(answer.body.oauth_url);
  return { ...answer, status: page.status, body: page.status === 200 ? { success: true } : { detail: page.html } };
}
