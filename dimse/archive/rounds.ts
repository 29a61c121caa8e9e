import type { Source } from '../../config/schema.ts';
import { priorIdsOf } from '../../src/core/patients/merges.ts';
import {
  claimPriorSearch,
  endPriorSearch,
  renewPriorSearch,
} from '../../src/core/studies/priors.ts';
import { logRounds, type Rounds, startRounds, whileRenewing } from '../../src/platform/rounds.ts';
import { secondsAfter } from '../../src/platform/time.ts';
import type { Archive } from './archive.ts';
import { askDueCounts } from './expected-count.ts';
import { findPriors } from './prior-search.ts';
import {
  claimRetrieval,
  LEASE_SECONDS,
  RENEW_MILLISECONDS,
  type RetrievalParts,
  runRetrieval,
} from './retrievals.ts';

interface ArchiveRoundParts extends RetrievalParts {
  archives: readonly Archive[];
  sources: readonly Source[];
}

const ROUND_MILLISECONDS = 500;
const SEARCHES = 4;

/**
 * Carries out pending work with archives: counts of a study's objects, retrievals, and searches for
 * priors. Each archive has its own loops, one for counts and one for retrievals, so that a slow
 * archive does not delay the others. Stopping cancels the work in progress; it is continued by
 * another process or after the next startup.
 */
export function startArchiveRounds(parts: ArchiveRoundParts): Rounds {
  const stopping = new AbortController();
  const { signal } = stopping;
  const work = parts.archives.flatMap((archive) => [
    () => askDueCounts(archive, parts, signal),
    () => retrieveNext(archive, parts, signal),
  ]);
  if (parts.archives.length > 0) {
    const archives = new Map(parts.archives.map((archive) => [archive.name, archive]));
    for (let search = 0; search < SEARCHES; search += 1) {
      work.push(() => searchNext(archives, parts, signal));
    }
  }
  const loops = work.map((next) => startLoop(next, parts, signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/**
 * Starts a loop.
 * @param next returns the number of tasks that it found, and is called again at once until it finds
 * none.
 */
function startLoop(
  next: () => Promise<number>,
  { logger }: ArchiveRoundParts,
  signal: AbortSignal,
): Rounds {
  const { onError, onRecovery } = logRounds(logger, 'archives', (error) =>
    logger.event('archive_round_failed', { err: error }),
  );
  return startRounds({
    async work() {
      while (!signal.aborted && (await next()) > 0);
    },
    pauseMilliseconds: ROUND_MILLISECONDS,
    onError(error, failures) {
      if (!signal.aborted) onError(error, failures);
    },
    onRecovery,
  });
}

async function retrieveNext(
  archive: Archive,
  parts: ArchiveRoundParts,
  signal: AbortSignal,
): Promise<number> {
  const row = await claimRetrieval(parts.database, archive.name, parts.now());
  if (!row) return 0;
  await runRetrieval(row, archive, parts, signal);
  return 1;
}

async function searchNext(
  archives: ReadonlyMap<string, Archive>,
  parts: ArchiveRoundParts,
  stopping: AbortSignal,
): Promise<number> {
  const { database, now } = parts;
  const search = await claimPriorSearch(database, now(), secondsAfter(now(), LEASE_SECONDS));
  if (!search) return 0;
  const late = AbortSignal.timeout(Math.max(1, search.deadline.getTime() - now().getTime()));
  const { PatientID: patientId, IssuerOfPatientID: issuer } = search.identity;
  const formerIds = await priorIdsOf(database, { patientId, issuer });
  const renew = () => renewPriorSearch(database, search, secondsAfter(now(), LEASE_SECONDS));
  const found = await whileRenewing({ renew, everyMilliseconds: RENEW_MILLISECONDS }, () =>
    findPriors({ ...search, formerIds }, archives, parts, AbortSignal.any([stopping, late])),
  );
  if (stopping.aborted) {
    await renewPriorSearch(database, search, null);
    return 1;
  }
  await endPriorSearch(database, search, found, now());
  return 1;
}
