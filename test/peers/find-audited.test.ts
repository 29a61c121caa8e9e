import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { type CommandParameters, typedCommands } from '../../src/operations/commands.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { freePort } from './free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from './pynetdicom.ts';

const STUDY = '1.2.840.65.1';

describe.skipIf(!PYNETDICOM_INSTALLED)('a person who asks an archive for studies', () => {
  let fresh: FreshDatabase;
  let peer: PynetdicomPeer;
  let opened: Awaited<ReturnType<typeof openCommands>>;

  beforeAll(async () => {
    [fresh, peer] = await Promise.all([freshDatabase(), startPynetdicom('archive')]);
    const [port, nobody] = [await freePort(), await freePort()];
    await peer.ask({ action: 'listen', port, title: 'PACS' });
    const file = dicomFile({ sopInstanceUid: `${STUDY}.1`, studyInstanceUid: STUDY });
    await peer.ask({ action: 'hold', files: [file.toString('hex')] });
    const node = { type: 'dicom', host: '127.0.0.1', aeTitle: 'PACS', timeoutSeconds: 5 };
    const archives = [
      { ...node, name: 'pacs', port },
      { ...node, name: 'away', port: nobody },
    ];
    opened = await openCommands(loadConfig({}, { ...fresh.settings, archives }));
  });
  afterAll(async () => {
    await peer?.stop();
    await fresh.remove();
  });
  beforeEach(() => {
    asked = { keys: { studyInstanceUid: STUDY }, limit: 10, objects: true, person: 'rowan' };
  });
  let asked: Omit<CommandParameters<'archives.find'>, 'from'>;
  const find = (from: string) => typedCommands(opened.run)('archives.find', { ...asked, from });

  test('receives its matches, and every query is audited with who asked and what was returned', async () => {
    expect(await find('pacs')).toMatchObject([
      { studyInstanceUid: STUDY, listed: [{ sopInstanceUid: `${STUDY}.1` }] },
    ]);
    await expect(find('away')).rejects.toThrow('peer_unreachable');
    await expect(find('elsewhere')).rejects.toThrow('There is no archive "elsewhere"');
    await opened.close();

    const database = await openDatabase({ ...fresh.settings, logger: silentLogger });
    const { rows } = await database.query(
      `SELECT actor, outcome, detail FROM audit WHERE action = 'dicom.query' ORDER BY id`,
    );
    await database.close();
    expect(rows).toEqual([
      { actor: 'person:rowan', outcome: 'success', detail: { archive: 'pacs', found: 1 } },
      { actor: 'person:rowan', outcome: 'failed', detail: { archive: 'away', found: null } },
    ]);
  });
});
