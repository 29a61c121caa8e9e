import { once } from 'node:events';
import { resolve } from 'node:path';
import { startReceiver } from '../../../dimse/receiver.ts';
import { createLogger } from '../../logging/logger.ts';
import { startDemoEhr } from '../demo/ehr.ts';
import { phantomStudy } from '../demo/phantom-studies.ts';
import { PATIENT_ID_SYSTEM, registerPatient } from '../demo/register-patient.ts';

const LOOPBACK = '127.0.0.1';

/** A PACS that takes everything from everyone on this machine, until it is interrupted. */
export async function simulatePacs({ port, out }: { port: number; out: string }): Promise<void> {
  const folder = resolve(out);
  const pacs = await startReceiver({
    folder,
    host: LOOPBACK,
    port,
    logger: createLogger('warn'),
    onObject: ({ path, callingAeTitle }) => tell(`${callingAeTitle} stored ${path}`),
  });
  tell(`PACS@${LOOPBACK}:${pacs.port}, objects go to ${folder}; any AE title is answered`);
  await interrupted();
  await pacs.close();
}

/**
 * An EHR on this machine that knows the patients of the phantom studies of a seed, until it is
 * interrupted. It keeps what it gets in memory.
 */
export async function simulateEhr({ port, seed }: { port: number; seed: number }): Promise<void> {
  const ehr = await startDemoEhr(port);
  tell(`${ehr.baseUrl}, patients have identifiers of ${PATIENT_ID_SYSTEM}`);
  for (const name of ['obstetric', 'echo'] as const) {
    const { patient } = await phantomStudy(name, seed);
    await registerPatient(ehr.baseUrl, patient);
    tell(`knows ${patient.patientId} of the ${name} phantom`);
  }
  const watch = watchReports(ehr);
  await interrupted();
  clearInterval(watch);
  await ehr.close();
}

const WATCH_MILLISECONDS = 500;

/** Says which reports have come; the receiver has no event for them. */
function watchReports(ehr: Awaited<ReturnType<typeof startDemoEhr>>): NodeJS.Timeout {
  const seen = new Set<string | undefined>();
  return setInterval(() => {
    for (const { id, status } of ehr.resources('DiagnosticReport')) {
      if (seen.has(id)) continue;
      seen.add(id);
      tell(`DiagnosticReport ${id} (${status}): ${ehr.baseUrl}/DiagnosticReport/${id}`);
    }
  }, WATCH_MILLISECONDS);
}

async function interrupted(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}

const tell = (line: string) => process.stdout.write(`${line}\n`);
