/** The service of uploads.test.ts and its parts. */
import { startService, type TestService } from '../../support/service.js';

export let service: TestService;

/** Starts the service. Contents of more than 3,000 bytes go to file storage. */
export async function startUploadService(): Promise<void> {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES: '3000' });
}
