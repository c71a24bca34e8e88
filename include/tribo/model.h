#include <tribo/base.h>
