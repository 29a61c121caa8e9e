import { InvalidInputError } from '../errors/problem.ts';
import { UrlNotPermittedError } from '../outbound/url-guard.ts';
import { isDisabled } from '../webhooks/endpoints.ts';
import type { HttpDeps } from './deps.ts';

const POINTER = '/webhook/url';

/**
 * A webhook that may be called, with its URL as it will be. The caller is not told which rule a URL
 * breaks, so that nobody learns of our network by trying.
 * @throws InvalidInputError at `/webhook/url`
 */
export async function acceptedWebhook<T extends { url: string }>(
  { database, outbound, logger }: Pick<HttpDeps, 'database' | 'outbound' | 'logger'>,
  accountId: string,
  webhook: T,
): Promise<T> {
  const url = permitted();
  if (await isDisabled(database, accountId, url)) {
    const detail = 'this address is disabled; redeliver one of its deliveries to use it again';
    throw new InvalidInputError([{ pointer: POINTER, detail }]);
  }
  return { ...webhook, url };

  function permitted(): string {
    try {
      return outbound.check(webhook.url, 'webhook').href;
    } catch (error) {
      if (!(error instanceof UrlNotPermittedError)) throw error;
      logger.info({ account: accountId, reason: error.reason }, 'webhook URL refused');
      throw new InvalidInputError([{ pointer: POINTER, detail: 'URL not permitted' }]);
    }
  }
}
