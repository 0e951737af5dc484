// The classifier of CS-LVM alone on 1k labeled pairs of SNLI's development set.
local cs_lvm = import '../lib/cs_lvm.libsonnet';

cs_lvm.snli_1k + cs_lvm.supervised
