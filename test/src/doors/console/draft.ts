import { obstetricEndpoint } from '../../../../pipelines/obstetric/endpoint.ts';
import { interpretReviewed } from '../../../../pipelines/obstetric/review.ts';
import { evidenceText } from '../../../../pipelines/run/stored-evidence.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { reviewedStudy } from '../../../pipelines/obstetric/reviewed-study.ts';
import { testWorker } from '../http/test-worker.ts';
import type { ConsoleSite } from './site.ts';

/** Adds a finished request that nobody has reviewed, and returns its id. */
export async function addDraft({ database, dataDir }: ConsoleSite): Promise<string> {
  const id = newId('req');
  await database.query(
    `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
       input, files, prior_files, metadata, source, cost, deliver_to, created_at, expires_at)
     VALUES ($1, 'default', $2, $3, $4, 'queued', '{}', 'normal', false, '{"files": []}', '[]', '[]',
       '{}', '{"kind": "http"}', '{}', '[]', now(), now() + interval '1 day')`,
    [id, obstetricEndpoint.model, obstetricEndpoint.id, obstetricEndpoint.version],
  );
  const worker = testWorker(database, dataDir);
  const reviewed = reviewedStudy();
  await worker.start(id);
  const result = interpretReviewed(reviewed, [], new Date());
  await worker.succeed(id, { 'evidence.json': evidenceText(reviewed) }, result);
  return id;
}
