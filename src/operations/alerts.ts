import { acknowledgeFlags } from '../core/alerts/alerts.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';
import type { AlertOperations } from './operations.ts';

export function createAlertOperations(database: Database): AlertOperations {
  return {
    async acknowledge({ request, person }) {
      if (await acknowledgeFlags(database, request, { person, at: new Date() })) return;
      throw new SonogateError('not_found', `There are no critical flags for a request ${request}.`);
    },
  };
}
