// CS-LVM + R^z on all of SNLI, as a generator: thesis table 6.5. Published: 79.0 %, distinct-1 .0140, distinct-2 .0492.
// The environment variable CS_LVM_ARCHIVE names the archive of ../snli/cs_lvm.jsonnet.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli('all') + cs_lvm.all_labeled + cs_lvm.fine_tuning(['z'])
