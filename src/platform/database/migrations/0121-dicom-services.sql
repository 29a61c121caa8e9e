-- Modality Performed Procedure Steps as machines report them (PS3.4 F.7).
CREATE TABLE performed_procedure_steps (
  sop_instance_uid text PRIMARY KEY,
  study_instance_uids text[] NOT NULL,
  status text NOT NULL CHECK (status IN ('IN PROGRESS', 'COMPLETED', 'DISCONTINUED')),
  calling_ae_title text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- Objects that somebody said a study has: it is complete when all are there.
CREATE TABLE study_expectations (
  study_instance_uid text NOT NULL,
  -- The performed procedure step, or the notification.
  stated_by text NOT NULL,
  signal text NOT NULL,
  sop_instance_uids text[] NOT NULL,
  stated_at timestamptz NOT NULL,
  PRIMARY KEY (study_instance_uid, stated_by)
);

-- Answers to peers that asked us to commit to the storage of objects (PS3.4 J), until they are told.
CREATE TABLE commitment_reports (
  transaction_uid text NOT NULL,
  calling_ae_title text NOT NULL,
  source text NOT NULL,
  committed jsonb NOT NULL,
  failed jsonb NOT NULL,
  attempt integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  told_at timestamptz,
  code text,
  PRIMARY KEY (transaction_uid, calling_ae_title)
);
CREATE INDEX commitment_reports_due ON commitment_reports (next_at) WHERE told_at IS NULL;

-- What a PACS took of a delivery, and whether it has committed to keep it.
CREATE TABLE delivered_objects (
  delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  destination text NOT NULL,
  sop_class_uid text NOT NULL,
  sop_instance_uid text NOT NULL,
  -- The commitment that was asked for; null: not yet.
  transaction_uid text,
  asked_at timestamptz,
  committed_at timestamptz,
  -- (0008,1197) of the PACS.
  failure_reason integer,
  PRIMARY KEY (delivery_id, sop_instance_uid)
);
CREATE INDEX delivered_objects_open ON delivered_objects (destination)
  WHERE committed_at IS NULL AND failure_reason IS NULL;
CREATE INDEX delivered_objects_transaction ON delivered_objects (transaction_uid);

-- When the PACS committed to keep all objects of the delivery.
ALTER TABLE deliveries ADD COLUMN committed_at timestamptz;
