/* tribo.h -- rigid-body simulation with hard contact and exact gradients; everything public. */
#ifndef TRIBO_H
#define TRIBO_H
#include <tribo/base.h>
#include <tribo/batch.h>
#include <tribo/contact.h>
#include <tribo/dynamics.h>
#include <tribo/grad.h>
#include <tribo/law.h>
#include <tribo/model.h>
#include <tribo/qcqp.h>
#include <tribo/recording.h>
#include <tribo/sim.h>
#include <tribo/sysid.h>
#include <tribo/trajectory.h>
#include <tribo/trajopt.h>
#endif
