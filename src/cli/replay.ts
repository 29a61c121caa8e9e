import type { DeliveryRow } from '../outbox/deliveries.ts';
import { runOperation } from './operations.ts';

/** Sends a dead delivery again; without an id, lists the last deliveries with their reason. */
export async function replay(id: string | undefined): Promise<void> {
  if (id !== undefined) {
    const row = await runOperation<DeliveryRow>('deliveries.replay', { id });
    process.stdout.write(`${row.object} goes to ${row.destination} again\n`);
    return;
  }
  const rows = await runOperation<DeliveryRow[]>('deliveries.list', {});
  for (const row of rows) {
    const why = row.code ? `  ${row.code}: ${row.detail ?? ''}` : '';
    const of = row.request_id ?? 'forward';
    const what = `${of} ${row.object} → ${row.destination}`;
    process.stdout.write(
      `${row.id}  ${(row.committed_at ? 'committed' : row.state).padEnd(9)}  ${what}, attempt ${row.attempt}${why}\n`,
    );
  }
}
