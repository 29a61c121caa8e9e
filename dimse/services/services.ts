import type { Source } from '../../config/schema.ts';
import type { Database } from '../../src/database/port.ts';
import type { ReceivedObjects } from '../../src/files/port.ts';
import type { Logger } from '../../src/logging/logger.ts';
import type { NormalizedService } from '../network/normalized-service.ts';
import {
  INSTANCE_AVAILABILITY,
  PERFORMED_PROCEDURE_STEP,
  STORAGE_COMMITMENT,
} from '../sop-classes.ts';
import { instanceAvailabilityService } from './instance-availability.ts';
import { performedProcedureService } from './performed-procedure.ts';
import { SERVICE_STATUS } from './service-status.ts';
import { storageCommitmentService } from './storage-commitment-scp.ts';
import { commitmentReportService } from './storage-commitment-scu.ts';

export interface ServiceParts {
  database: Database;
  objects: ReceivedObjects;
  sources: readonly Source[];
  logger: Logger;
  now: () => Date;
}

/** SOP classes of normalized services that the listener offers. */
export const NORMALIZED_SOP_CLASSES: ReadonlySet<string> = new Set([
  PERFORMED_PROCEDURE_STEP,
  INSTANCE_AVAILABILITY,
  STORAGE_COMMITMENT,
]);

/** Hands each request to the service of its SOP class. */
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
    return service ? service(request, peer) : { status: SERVICE_STATUS.noSuchSopClass };
  };
}
