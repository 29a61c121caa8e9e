import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a program on files. `output` combines both of its streams. */
export function run(program: string, args: readonly string[]): { code: number; output: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (error) throw error;
  return { code: status ?? -1, output: stdout + stderr };
}

/**
 * Returns true if a program is installed on this machine. `.ci/run` installs those that the tests
 * use.
 */
export function installed(program: string, args: readonly string[] = ['--version']): boolean {
  const { error, status } = spawnSync(program, args, { timeout: 30_000 });
  return !error && (program !== PYTHON || status === 0);
}

/**
 * Debian's Python, for which python3-pydicom is installed. Another Python earlier on the path may
 * lack it.
 */
export const PYTHON = '/usr/bin/python3';
export const hasPydicom = installed(PYTHON, ['-c', 'import pydicom']);

/**
 * Writes these bytes to a new file and returns its path. The file is removed at the end of the test
 * run.
 */
export function asFile(bytes: Buffer, extension: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'sonogate-test-')), `file.${extension}`);
  writeFileSync(path, bytes);
  return path;
}

/** dciodvfy's message about an attribute that its edition of PS3.3 does not allow in this place. */
const NOT_IN_IOD = 'Attribute is not present in standard DICOM IOD';
/**
 * Device UID in an item of Contributing Equipment (PS3.3 Table C.12-1). It was added to the
 * standard after dciodvfy.
 */
const DEVICE_UID = /0x0018,0x1002/;
const EXTENDED = /contains attributes not present in standard DICOM IOD/;

/**
 * Runs dciodvfy on a document. Returns its errors and warnings, except those about UTF-8, Device
 * UID, and our private coding scheme, which it cannot know and which the document itself
 * identifies.
 */
export function dciodvfy(path: string): { code: number; complaints: string[] } {
  const { code, output } = run('dciodvfy', [path]);
  const complaints = output
    .split('\n')
    .filter((line) => /^(Error|Warning)/.test(line) && !/ISO_IR 192|<99USINT>/.test(line))
    .filter((line) => !(line.includes(NOT_IN_IOD) && DEVICE_UID.test(line)));
  const extended = complaints.some((line) => line.includes(NOT_IN_IOD));
  return {
    code,
    complaints: extended ? complaints : complaints.filter((line) => !EXTENDED.test(line)),
  };
}
