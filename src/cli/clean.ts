import { userInfo } from 'node:os';
import { loadConfig } from '../../config/load.ts';
import { runOperation } from './operations.ts';

interface Removal {
  studies: number;
  objects: number;
  bytes: number;
  quarantined: number;
  kept: { because: string; studies: number }[];
}

/** Removes received studies that `retention.intakeDays` has ended, or tells which would go. */
export async function clean({ dryRun = false }: { dryRun?: boolean }): Promise<void> {
  const config = loadConfig();
  const { intakeDays, quarantineDays } = config.retention;
  const keepsAll = intakeDays === undefined && quarantineDays === undefined;
  // Asked even then: without the gateway's data this would be said of another site.
  const removal = await runOperation<Removal>(
    'retention.clean',
    { dryRun: dryRun || keepsAll, person: userInfo().username },
    config,
  );
  if (keepsAll) {
    process.stdout.write('retention.intakeDays and quarantineDays are not set: all is kept\n');
    return;
  }
  const megabytes = (removal.bytes / 1e6).toFixed(1);
  const verb = dryRun ? 'would remove' : 'removed';
  const what = `${removal.studies} studies, ${removal.objects} objects, ${megabytes} MB`;
  process.stdout.write(`${verb} ${what}; ${removal.quarantined} from the quarantine\n`);
  for (const { because, studies } of removal.kept) {
    process.stdout.write(`${studies} old enough stay: ${because}\n`);
  }
}
