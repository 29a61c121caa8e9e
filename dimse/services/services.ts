import type { Source } from '../../config/schema.ts';
import {
  INSTANCE_AVAILABILITY,
  PERFORMED_PROCEDURE_STEP,
  STORAGE_COMMITMENT,
} from '../../pipelines/dicom/sop-classes.ts';
import type { ReceivedObjects } from '../../src/core/files/received-objects.ts';
import type { Database } from '../../src/platform/database/port.ts';
import type { Logger } from '../../src/platform/logging/logger.ts';
import type { NormalizedService } from '../network/service-ports.ts';
import { STATUS } from '../network/status.ts';
import { storageCommitmentService } from './commitment-scp.ts';
import { commitmentReportService } from './commitment-scu.ts';
import { instanceAvailabilityService, performedProcedureService } from './mpps-and-ian.ts';

interface ServiceParts {
  database: Database;
  objects: ReceivedObjects;
  sources: readonly Source[];
  logger: Logger;
  now: () => Date;
}

export const NORMALIZED_SOP_CLASSES: ReadonlySet<string> = new Set([
  PERFORMED_PROCEDURE_STEP,
  INSTANCE_AVAILABILITY,
  STORAGE_COMMITMENT,
]);

/** Returns a service that dispatches each request by its SOP class. */
export function normalizedServices(parts: ServiceParts): NormalizedService {
  const requests = storageCommitmentService(parts);
  const reports = commitmentReportService(parts);
  const services: Readonly<Record<string, NormalizedService>> = {
    [PERFORMED_PROCEDURE_STEP]: performedProcedureService(parts),
    [INSTANCE_AVAILABILITY]: instanceAvailabilityService(parts),
    [STORAGE_COMMITMENT]: (request, peer) =>
      request.operation === 'N-EVENT-REPORT' ? reports(request, peer) : requests(request, peer),
  };
  return async (request, peer) => {
    const service = services[request.sopClassUid];
    return service ? service(request, peer) : { status: STATUS.noSuchSopClass };
  };
}
