import type { Router } from '@koa/router';
import type { StoreOutcome } from '../../core/studies/store-port.ts';
import { catalogueEntry, type ErrorCode } from '../../platform/errors/catalogue.ts';
import { auditAction } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { UploadOutcome } from './contract.ts';
import { needs } from './guard.ts';

/**
 * Adds `POST /instances`. Uploaded objects are received as if they came from the source that has
 * `consoleUploads` set, so routing rules apply to them.
 */
export function addUploadRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  router.post('/instances', needs('run'), async (context) => {
    const outcome = await deps.storeInstances({
      id: context.state.requestId,
      keyName: null,
      address: context.ip,
      study: null,
      contentType: context.get('Content-Type'),
      body: context.req,
    });
    const shown = uploadOutcome(outcome);
    await auditAction(context, 'study.upload', { detail: { stored: shown.stored } }, deps);
    context.body = shown satisfies UploadOutcome;
  });
}

/** Errors with which an uploaded object can be refused, most frequent first. */
const REASONS: readonly ErrorCode[] = [
  'object_not_understood',
  'sop_class_not_supported',
  'transfer_syntax_not_supported',
  'overloaded',
];

/** Counts the objects that were stored, and the refused ones by reason. */
export function uploadOutcome({ stored, failed, unreadable }: StoreOutcome): UploadOutcome {
  const reasons = [...failed.map(({ reason }) => reason), ...unreadable].map(reasonText);
  return {
    stored: stored.length,
    refused: [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => ({
      reason,
      objects: all.length,
    })),
  };
}

function reasonText(reason: number): string {
  const hex = reason.toString(16).toUpperCase().padStart(4, '0');
  const code = REASONS.find((one) => catalogueEntry(one).dimse === hex);
  return code ? catalogueEntry(code).title : `DICOM status ${hex}`;
}
